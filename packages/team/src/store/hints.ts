/**
 * Hints between replicas that something has changed. A hint can be lost, so it only makes a reader read sooner: what
 * has changed is in the store. Hints are rare (50 a second for all replicas), and carry ids only.
 */
export type HintTopic = "config" | "grant" | "approval" | "question" | "api_key" | "revocation";

export interface Hints {
  /** Sends a hint to all replicas, this one too. Above the limit, hints of a topic are joined into one without an id. */
  send(topic: HintTopic, id: string): void;
  /**
   * Calls `onHint` with the id of each hint. Without an id, hints may have been lost or joined: read everything again.
   * Listening begins before the first call without an id, so that a reader who then reads misses nothing. Returns how to stop.
   */
  listen(topic: HintTopic, onHint: (id: string | undefined) => void): () => void;
}
