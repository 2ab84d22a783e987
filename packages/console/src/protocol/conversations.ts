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

/** Lists recorded conversations. */
export interface ConversationCommands {
  "conversations/list": {
    params: {
      readonly limit?: number | undefined;
      /** Whether to list the conversations of all workspaces. */
      readonly all?: boolean | undefined;
    };
    result: { readonly conversations: readonly ConversationRow[] };
  };
}
