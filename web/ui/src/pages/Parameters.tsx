import { Page } from "../parts/Page";

export default function ParametersPage() {
  return <Page title="Parameters">{null}</Page>;
}
