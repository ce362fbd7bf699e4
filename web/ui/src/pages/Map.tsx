import { Page } from "../parts/Page";

export default function MapPage() {
  return <Page title="Map">{null}</Page>;
}
