import { useQuery } from "@tanstack/react-query";
import { type Class, classes } from "../../api";

/** useClasses gives the classes there are, to choose from; a form works without them, too. */
export function useClasses(): Class[] {
  return useQuery({ queryKey: ["classes"], queryFn: classes.all }).data ?? [];
}

export const useClassNames = (): string[] => useClasses().map((c) => c.name);
