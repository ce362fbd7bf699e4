import { Kbd, Modal, Table } from "@mantine/core";
import { sections } from "./sections";

const common: [string[], string][] = [
  [["Ctrl", "K"], "Search for items and commands"],
  [["/"], "Go to the filter of the page"],
  [["?"], "Show this list"],
  [["Esc"], "Close a dialog or menu"],
];

const list: [string[], string][] = [
  [["j"], "Status list: next row"],
  [["k"], "Status list: row before"],
  [["x"], "Status list: select the row"],
  [["Enter"], "Status list: open the item"],
  [["a"], "Status list: acknowledge what is selected, or the row"],
  [["Shift", "A"], "Status list: take its acknowledgment back"],
  [["u"], "Status list: unmanage it"],
  [["m"], "Status list: manage it"],
  [["n"], "Status list: write a note"],
];

export default function Shortcuts({ onClose }: { onClose: () => void }) {
  const all = [...common, ...sections.map((s): [string[], string] => [["g", s.key], `Go to ${s.label}`]), ...list];
  return (
    <Modal opened onClose={onClose} title="Shortcuts">
      <Table>
        <Table.Tbody>
          {all.map(([keys, what]) => (
            <Table.Tr key={what}>
              <Table.Td>
                {keys.map((k) => (
                  <Kbd key={k} mr={4}>
                    {k}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{what}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
