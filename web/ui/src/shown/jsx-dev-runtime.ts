// The same while developing: elements are made as in the finished interface.
import { jsx, jsxs } from "./jsx-runtime";

export { Fragment, type JSX } from "./jsx-runtime";

export const jsxDEV: typeof jsx = (type, props, key) =>
  (Array.isArray((props as { children?: unknown }).children) ? jsxs : jsx)(type, props, key);
