// The first steps on demand, from the person menu.
import { Modal } from "@mantine/core";
import Steps from "./Steps";

export default function FirstStepsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="First steps" size="lg">
      <Steps onLeave={onClose} />
    </Modal>
  );
}
