import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from "@mantine/core";

// A bronze green, as of old bells. Buttons use shade 8: white text on it has a contrast of more than 4.5.
const bell: MantineColorsTuple = [
  "#e9f7f6",
  "#d3ece9",
  "#a6d9d3",
  "#76c5bc",
  "#4fb4a9",
  "#35a99d",
  "#239c90",
  "#13877c",
  "#00766b",
  "#00645a",
];

export const theme = createTheme({
  primaryColor: "bell",
  primaryShade: { light: 8, dark: 8 },
  colors: { bell },
  defaultRadius: "md",
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace',
  cursorType: "pointer",
  respectReducedMotion: true,
  headings: { fontWeight: "650" },
  // The cross of a dialog is only drawn, so it needs a name.
  components: { Modal: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } } },
});

// Dimmed text as Mantine has it is too pale on both grounds to be read by everyone.
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "#566069",
    "--mantine-color-placeholder": "#6b747c",
    "--mantine-color-error": "#c92a2a",
    "--mantine-color-anchor": "#00645a",
  },
  dark: {
    "--mantine-color-body": "#16191d",
    "--mantine-color-dimmed": "#a3abb3",
    "--mantine-color-placeholder": "#8e969e",
    "--mantine-color-error": "#ff8787",
    "--mantine-color-anchor": "#76c5bc",
  },
});
