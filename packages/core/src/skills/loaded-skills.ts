/**
 * The skills that one model acts on: those that it has loaded. Their instructions may stay in its context, so they count
 * until the conversation ends.
 */

/** A skill that a model has loaded: its server, and the URI of its `SKILL.md`. */
export interface LoadedSkill {
  readonly server: string;
  readonly uri: string;
}

/** The skills that one model acts on. */
export class LoadedSkills {
  readonly #skills: LoadedSkill[];
  readonly #onLoad: (skill: LoadedSkill) => void;

  /**
   * @param earlier The skills that were loaded before the conversation was resumed.
   * @param onLoad Called when a skill is loaded for the first time.
   */
  constructor(earlier: readonly LoadedSkill[] = [], onLoad: (skill: LoadedSkill) => void = () => {}) {
    this.#skills = [...earlier];
    this.#onLoad = onLoad;
  }

  /** The servers of the skills. */
  get servers(): readonly string[] {
    return [...new Set(this.#skills.map(({ server }) => server))];
  }

  has(server: string, uri: string): boolean {
    return this.#skills.some((skill) => skill.server === server && skill.uri === uri);
  }

  add(skill: LoadedSkill): void {
    if (this.has(skill.server, skill.uri)) return;
    this.#skills.push(skill);
    this.#onLoad(skill);
  }

  /** The servers that may have caused a read of this skill's files. A loaded skill reads its own files. */
  actingOn(server: string, uri: string | undefined): readonly string[] {
    return uri !== undefined && this.has(server, uri) ? [] : this.servers;
  }
}
