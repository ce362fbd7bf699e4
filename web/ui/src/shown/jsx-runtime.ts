// How elements are made, in all of this interface: by React, after every text that is to be read has been made visible. Names come
// from everywhere and are shown in a hundred places; here none is forgotten. What people type stays as it is.
import { Fragment, type JSX, jsx as make, jsxs as makeMany } from "react/jsx-runtime";
import { visible } from "./visible";

export { Fragment, type JSX };

/** What is read beside the content of an element. */
const read = ["title", "aria-label", "label", "description", "alt", "error", "placeholder"];

type Props = Record<string, unknown>;

const shown = (v: unknown): unknown =>
  typeof v === "string" ? visible(v) : Array.isArray(v) && v.some((c) => shown(c) !== c) ? v.map(shown) : v;

function allShown(props: Props): Props {
  let out = props;
  const set = (name: string) => {
    const now = shown(props[name]);
    if (now !== props[name]) out = { ...out, [name]: now };
  };
  set("children");
  for (const name of read) if (typeof props[name] === "string") set(name);
  return out;
}

export const jsx: typeof make = (type, props, key) => make(type, allShown(props as Props), key);
export const jsxs: typeof makeMany = (type, props, key) => makeMany(type, allShown(props as Props), key);
