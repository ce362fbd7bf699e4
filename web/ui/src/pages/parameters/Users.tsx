import { Page } from "../../parts/Page";

export default function UsersPage() {
  return <Page title="Users">{null}</Page>;
}
