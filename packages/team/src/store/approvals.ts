/** The saved answers "always and save", for each user. */

import type { Owner } from "./owner.ts";

/** What an approval is for. */
export interface ApprovalKey {
  readonly server: string;
  /** The fingerprint of the server's definition in the settings. Another definition is another server. */
  readonly fingerprint: string;
  readonly kind: "tool" | "skill" | "host";
  /** The name of the tool, or the URI of the skill. */
  readonly tool: string;
  /** The client whose requests the approval covers. Absent: all requests of the user. */
  readonly client?: string;
}

/** A stored approval. */
export interface SavedApproval extends ApprovalKey {
  /** The digest of the approved definition. */
  readonly digest: string;
  /** The approved definition as JSON, if it is short enough to be kept. */
  readonly definition?: string;
  /** The principal who approved: the user, or an approver. */
  readonly by: string;
  /** ISO 8601. */
  readonly at: string;
}

export interface UserApprovalStore {
  /** The approvals of a user, newest first. */
  list(owner: Owner): Promise<readonly SavedApproval[]>;
  /** Saves an approval. It replaces an earlier one with the same key. */
  save(owner: Owner, approval: SavedApproval): Promise<void>;
  /** Returns false if there was none. */
  remove(owner: Owner, key: ApprovalKey): Promise<boolean>;
}
