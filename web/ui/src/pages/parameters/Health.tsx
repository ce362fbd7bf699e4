import { Page } from "../../parts/Page";

export default function HealthPage() {
  return <Page title="Health">{null}</Page>;
}
