import { Page } from "../../parts/Page";

export default function CustomersPage() {
  return <Page title="Customers">{null}</Page>;
}
