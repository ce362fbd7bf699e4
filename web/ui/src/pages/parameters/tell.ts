import { tell as inPassing } from "../../parts/notices";

/** tell says in passing that something was done. It stands above, where it covers no button of these pages on a phone. */
export const tell = (message: string) => void inPassing({ message, position: "top-center" });
