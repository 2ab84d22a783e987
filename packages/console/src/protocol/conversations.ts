import type { JsonObject } from "@fairlead/wire";

/** A recorded conversation in the list. */
export interface ConversationRow {
  readonly id: string;
  readonly title?: string | undefined;
  readonly firstWords: string;
  /** In ISO 8601. */
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly workspace: string;
  readonly model: string;
  readonly turns: number;
  readonly calls: number;
}

/** Reads recorded conversations. */
export interface ConversationCommands {
  "conversations/list": {
    params: {
      readonly limit?: number | undefined;
      /** Whether to list the conversations of all workspaces. */
      readonly all?: boolean | undefined;
    };
    result: { readonly conversations: readonly ConversationRow[] };
  };
  /** The events of a conversation, in their order: `input`, and the events of turns. Those of one page. */
  "conversations/show": {
    params: { readonly id: string; readonly from?: number | undefined; readonly limit?: number | undefined };
    result: {
      readonly conversation: ConversationRow;
      readonly events: readonly JsonObject[];
      readonly total: number;
    };
  };
}
