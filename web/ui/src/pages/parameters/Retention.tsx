import { Page } from "../../parts/Page";

export default function RetentionPage() {
  return <Page title="Retention">{null}</Page>;
}
