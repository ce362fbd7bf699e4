import { Page } from "../parts/Page";

export default function StatusPage() {
  return <Page title="Status">{null}</Page>;
}
