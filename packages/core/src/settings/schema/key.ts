/** Types of the table that describes all settings keys. */

/** The effect of a key in a workspace file. In an untrusted folder, no key has an effect. */
export type WorkspaceRule =
  | "once the folder is trusted and the entry approved"
  | "once the folder is trusted"
  | "only to restrict further, in a trusted folder"
  | "never: set it in user or system settings"
  | "no effect anywhere";

interface Leaf {
  readonly description: string;
  readonly workspace: WorkspaceRule;
  /** Whether variables (`$NAME`, `${NAME}` …) in the value are expanded. */
  readonly expanded?: true;
  readonly examples?: readonly unknown[];
  /** A sentence that says why the key has no effect. Fairlead shows it in a warning. */
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
/** An object with string values. Numbers and booleans are converted to strings. */
export interface TextsKey extends Leaf {
  readonly type: "texts";
  readonly names: "environment" | "header";
}
/** An object with lists of strings. */
export interface ListsKey extends Leaf {
  readonly type: "lists";
}
export type LeafKey = TextKey | SwitchKey | NumberKey | ListKey | TextsKey | ListsKey;

export interface ObjectKey {
  readonly type: "object";
  readonly description: string;
  readonly properties: Readonly<Record<string, SettingsKey>>;
  /** The object must have exactly one of these keys. */
  readonly exactlyOneOf?: readonly string[];
  /** Describes a single value that the user may write instead of the object. */
  readonly instead?: LeafKey;
  /** True if unknown keys are allowed. Other programs store their own keys in this object. */
  readonly shared?: true;
}
/** An object whose keys are names that the user chooses. */
export interface NamedKey {
  readonly type: "named";
  readonly description: string;
  readonly placeholder: string;
  readonly each: ObjectKey;
}
export type SettingsKey = LeafKey | ObjectKey | NamedKey;

/** The longest time that a timer supports, in milliseconds. */
export const longestTime = 2_147_483_647;
