import { notify as show } from "../../parts/notices";

/** notify shows for a moment that something was done. It is at the top, where it covers no button of these pages on a phone. */
export const notify = (message: string) => void show({ message, position: "top-center" });
