/** Whom something belongs to. */
export interface Owner {
  /** The number of the tenant. Rows of two tenants never meet. */
  readonly tenant: number;
  /** `iss#sub` of the person's token, or the id of a machine. Never an e-mail address: those are given to others. */
  readonly principal: string;
}
