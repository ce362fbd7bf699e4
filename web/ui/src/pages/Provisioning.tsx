import { Page } from "../parts/Page";

export default function ProvisioningPage() {
  return <Page title="Provisioning">{null}</Page>;
}
