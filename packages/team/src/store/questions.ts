/** Questions that wait for a person: elicitations, and approvals by the user or by an approver. */

import type { Owner } from "./owner.ts";

export interface NewQuestion {
  readonly id: string;
  readonly owner: Owner;
  readonly server: string;
  readonly tool: string;
  /** The digest of the arguments that the answer is for. */
  readonly argsDigest: Buffer;
  /** What is asked, as JSON. It is encrypted: it can contain arguments. */
  readonly asked: string;
  /** In milliseconds since 1970. */
  readonly until: number;
}

export interface StoredQuestion extends NewQuestion {
  /** `used`: a request has taken the answer. */
  readonly state: "open" | "answered" | "withdrawn" | "used";
  /** The answer as JSON. Present in the states `answered` and `used`. */
  readonly answer?: string;
  readonly answeredBy?: string;
}

export interface QuestionStore {
  ask(question: NewQuestion): Promise<void>;
  read(tenant: number, id: string): Promise<StoredQuestion | undefined>;
  /** Answers an open question. Returns false if it is not open any more: the first answer counts. */
  answer(tenant: number, id: string, answer: { readonly by: string; readonly json: string }): Promise<boolean>;
  /** Takes an open question back. Returns false if it was not open. */
  withdraw(tenant: number, id: string): Promise<boolean>;
  /** The open question of a user about exactly this. */
  find(owner: Owner, argsDigest: Buffer): Promise<StoredQuestion | undefined>;
  /** Uses up the answer of a user's question about exactly this. Of several requests, one gets it. */
  take(owner: Owner, argsDigest: Buffer): Promise<StoredQuestion | undefined>;
  /** The open questions of a user, oldest first; of the whole tenant without a principal (for approvers). */
  open(tenant: number, principal?: string): Promise<readonly StoredQuestion[]>;
}
