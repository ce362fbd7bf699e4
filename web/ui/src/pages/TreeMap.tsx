import { Page } from "../parts/Page";

export default function TreeMapPage() {
  return <Page title="TreeMap">{null}</Page>;
}
