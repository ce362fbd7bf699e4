// The styles of components that are on no page that a visit begins with, in the order in which they build on each other and on
// those of mantine.ts. What uses one of them is loaded when it is first opened, and imports this.
import "@mantine/core/styles/ModalBase.css";
import "@mantine/core/styles/InlineInput.css";
import "@mantine/core/styles/Checkbox.css";
import "@mantine/core/styles/Badge.css";
import "@mantine/core/styles/Breadcrumbs.css";
import "@mantine/core/styles/ColorSwatch.css";
import "@mantine/core/styles/ColorPicker.css";
import "@mantine/core/styles/ColorInput.css";
import "@mantine/core/styles/Fieldset.css";
import "@mantine/core/styles/Kbd.css";
import "@mantine/core/styles/Modal.css";
import "@mantine/core/styles/PillsInput.css";
import "@mantine/core/styles/NumberInput.css";
import "@mantine/core/styles/Radio.css";
import "@mantine/core/styles/SimpleGrid.css";
import "@mantine/core/styles/Skeleton.css";
import "@mantine/core/styles/Table.css";
import "@mantine/core/styles/Tabs.css";
