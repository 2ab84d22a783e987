/** Ids that count once: of encrypted states, of redeemed tokens and of given answers. */
export interface ConsumedStore {
  /**
   * Uses up an id. Returns false if it was used before.
   *
   * @param until When the id can be forgotten, because what contains it has expired. In milliseconds since 1970.
   */
  consume(id: string, until: number): Promise<boolean>;
}
