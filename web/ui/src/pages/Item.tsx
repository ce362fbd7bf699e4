import { Page } from "../parts/Page";

export default function ItemPage() {
  return <Page title="Item">{null}</Page>;
}
