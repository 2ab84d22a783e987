/** What the tools cost a model in tokens. */
export interface BudgetCommands {
  "budget/show": {
    params: Record<string, never>;
    result: {
      /** Estimated tokens of all tools, and of those that a model gets directly. */
      readonly total: number;
      readonly offered: number;
      readonly servers: readonly {
        readonly server: string;
        readonly total: number;
        readonly offered: number;
        readonly tools: readonly {
          readonly tool: string;
          /** The name that a model uses. */
          readonly name: string;
          readonly tokens: number;
          /** Whether a model gets the tool directly. If not, it finds the tool by search. */
          readonly isOffered: boolean;
          readonly reason: string;
        }[];
      }[];
    };
  };
}
