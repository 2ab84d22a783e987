/** What a server does for a client that reads too slowly. */

/**
 * While so many bytes wait for a client, none of its requests is read or begun, and it gets no news that it can do
 * without.
 */
export const slowBytes: number = 4 * 1024 * 1024;

/** Whether the client can do without this message: a later one, or the response, says more. */
export function isDispensable({ method }: { readonly method?: unknown }): boolean {
  return method === "notifications/progress" || method === "notifications/message";
}
