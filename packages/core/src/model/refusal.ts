/** An HTTP response of a model's API with an error status. */

/** An error response, read to its end. */
export interface Refusal {
  readonly status: number;
  readonly body: string;
  /** The `Retry-After` header. */
  readonly retryAfter?: string;
}

/** Reads an error response. */
export async function readRefusal(response: Response): Promise<Refusal> {
  const retryAfter = response.headers.get("retry-after");
  const body = await response.text();
  return { status: response.status, body, ...(retryAfter !== null && { retryAfter }) };
}
