/** The vocabulary in which the settings file is described: plain data, few words. */

/** What a key may do when it stands in a workspace file. In an untrusted folder, none does anything. */
export type WorkspaceRule =
  | "once the folder is trusted and the entry approved"
  | "once the folder is trusted"
  | "only to restrict further, in a trusted folder"
  | "never: user or system settings only"
  | "no effect anywhere";

interface Leaf {
  readonly description: string;
  readonly workspace: WorkspaceRule;
  /** Variables (`$NAME`, `${NAME}` …) are expanded. */
  readonly expanded?: true;
  readonly examples?: readonly unknown[];
  /** Accepted and ignored; the sentence says why. */
  readonly ignored?: string;
}

export interface TextKey extends Leaf {
  readonly type: "text";
  readonly oneOf?: readonly string[];
  readonly format?: "url" | "https-url";
  readonly default?: string;
}
export interface SwitchKey extends Leaf {
  readonly type: "switch";
  readonly default?: boolean;
}
export interface NumberKey extends Leaf {
  readonly type: "number";
  readonly minimum: number;
  readonly maximum: number;
  readonly default?: number;
}
export interface ListKey extends Leaf {
  readonly type: "list";
}
/** Names with a string each; numbers and booleans are taken as text. */
export interface TextsKey extends Leaf {
  readonly type: "texts";
  readonly names: "environment" | "header";
}
/** Names with a list of strings each. */
export interface ListsKey extends Leaf {
  readonly type: "lists";
}
export type LeafKey = TextKey | SwitchKey | NumberKey | ListKey | TextsKey | ListsKey;

export interface ObjectKey {
  readonly type: "object";
  readonly description: string;
  readonly properties: Readonly<Record<string, SettingsKey>>;
  /** Of these keys there must be one, and only one. */
  readonly exactlyOneOf?: readonly string[];
  /** Other programs keep keys of their own here: unknown ones are no mistake. */
  readonly shared?: true;
}
/** One object for each name a person chooses. */
export interface NamedKey {
  readonly type: "named";
  readonly description: string;
  readonly placeholder: string;
  readonly each: ObjectKey;
}
export type SettingsKey = LeafKey | ObjectKey | NamedKey;

/** The longest time a timer can hold. */
export const longestTime = 2_147_483_647;
