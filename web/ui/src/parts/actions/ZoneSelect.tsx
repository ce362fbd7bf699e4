// A time zone to choose by typing. What is typed takes the place of what was there; until it is a zone, the form cannot be sent.
import { Autocomplete } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { zoneNamed, zones, zonesWith } from "./zones";

/** As many as are listed at once. */
const listed = 60;

export function ZoneSelect({ value, onChange }: { value: string; onChange: (zone: string) => void }) {
  const [text, setText] = useState(value);
  const [typing, setTyping] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const found = text === value ? zones() : zonesWith(text);
  const wrong = zoneNamed(text)
    ? ""
    : found.length > 0
      ? "Choose a zone from the list"
      : "No such zone; search by a city, as Vienna or New York";
  useEffect(() => setText(value), [value]);
  useEffect(() => field.current?.setCustomValidity(wrong), [wrong]);
  const type = (now: string) => {
    setText(now);
    const zone = zoneNamed(now);
    if (zone) onChange(zone);
  };
  return (
    <Autocomplete
      ref={field}
      label="Time zone"
      data={found.slice(0, listed)}
      filter={({ options }) => options}
      selectFirstOptionOnChange={text !== value}
      value={text}
      onChange={type}
      error={typing && found.length > 0 ? "" : wrong}
      onFocus={(e) => {
        e.currentTarget.select();
        setTyping(true);
      }}
      onMouseDown={(e) => {
        // The click would put the caret somewhere into the text, which is to stay selected.
        if (document.activeElement === e.currentTarget) return;
        e.preventDefault();
        e.currentTarget.focus();
      }}
      onKeyDown={(e) => e.key === "Enter" && e.preventDefault()}
      onBlur={() => {
        setText(zoneNamed(text) ?? text);
        setTyping(false);
      }}
    />
  );
}
