// What has been read from the service, and how it is read again.
import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api";

/** passing tells an error that may pass: a wrong question stays wrong, what is tried later may succeed. */
export const passing = (e: unknown) => e instanceof ApiError && (e.status === 0 || e.status === 429 || e.status >= 500);

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (n, e) => passing(e) && n < 3,
      refetchOnWindowFocus: false,
      staleTime: 5_000,
    },
  },
});
