import type { ShownDifference } from "./rows.ts";
import type { DecisionLine } from "./tools.ts";

/** A skill of a server: a folder of instructions and files. */
export interface SkillRow {
  readonly server: string;
  readonly uri: string;
  /** The shortest name that means only this skill. */
  readonly label: string;
  readonly description: string;
  /** The number of files and their bytes. Absent if the server makes them for each request. */
  readonly files?: number | undefined;
  readonly bytes?: number | undefined;
  readonly isAccepted: boolean;
  readonly isChanged: boolean;
  /** What the rules say if a model loads it. */
  readonly decision: DecisionLine["decision"];
}

/** Reads skills and accepts them. `calls/skill` reads a file of one. */
export interface SkillCommands {
  "skills/list": { params: Record<string, never>; result: { readonly skills: readonly SkillRow[] } };
  "skills/show": {
    params: { readonly server: string; readonly uri: string };
    result: {
      readonly skill: SkillRow;
      /** Identifies all files, to accept them. Absent if the server makes them for each request. */
      readonly digest?: string | undefined;
      readonly files: readonly { readonly path: string; readonly size: number; readonly digest: string }[];
      /** How the skill differs from the accepted one. */
      readonly change?: readonly ShownDifference[] | undefined;
    };
  };
  /** Accepts the skill's files, if they still have the digest that the person has seen. */
  "skills/accept": {
    params: { readonly server: string; readonly uri: string; readonly digest: string };
    result: Record<string, never>;
  };
}
