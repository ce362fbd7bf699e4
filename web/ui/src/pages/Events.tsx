import { Page } from "../parts/Page";

export default function EventsPage() {
  return <Page title="Events">{null}</Page>;
}
