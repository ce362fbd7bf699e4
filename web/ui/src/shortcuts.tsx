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
  [["k"], "Status list: previous row"],
  [["x"], "Status list: select the row"],
  [["Enter"], "Status list: open the item"],
];

/** In the status list these are for the selection, or the current row if nothing is selected. */
const actions: [string[], string][] = [
  [["a"], "Status list, page of an item: acknowledge"],
  [["Shift", "A"], "Status list, page of an item: unacknowledge"],
  [["u"], "Status list, page of an item: unmanage"],
  [["m"], "Status list, page of an item: manage"],
  [["n"], "Status list, page of an item: write a note"],
];

export default function Shortcuts({ onClose }: { onClose: () => void }) {
  const all = [
    ...common,
    ...sections.map((s): [string[], string] => [["g", s.key], `Go to ${s.label}`]),
    ...list,
    ...actions,
  ];
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
