import { Page } from "../../parts/Page";

export default function AccountPage() {
  return <Page title="Account">{null}</Page>;
}
