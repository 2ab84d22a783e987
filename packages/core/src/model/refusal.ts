/** An answer with a status that is none of success, read to its end. */

export interface Refusal {
  readonly status: number;
  readonly body: string;
  /** The header, as it came. */
  readonly retryAfter?: string;
}

export async function readRefusal(response: Response): Promise<Refusal> {
  const retryAfter = response.headers.get("retry-after");
  const body = await response.text();
  return { status: response.status, body, ...(retryAfter !== null && { retryAfter }) };
}
