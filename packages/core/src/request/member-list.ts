/** Members that come and go often, such as the requests that run now. */

/** A member of a `MemberList`, which alone changes `slotNumber`. */
export interface Member {
  slotNumber: number;
}

/**
 * A list in no particular order. Not a `Set`: each table that an often changed set has outgrown keeps its members in
 * memory for a long time.
 */
export class MemberList<T extends Member> {
  readonly #slots: (T | undefined)[] = [];
  #size = 0;

  add(member: T): void {
    member.slotNumber = this.#size;
    this.#slots[this.#size] = member;
    this.#size += 1;
  }

  /** Removes a member. Does nothing if it is not in the list. */
  remove(member: T): void {
    if (this.#slots[member.slotNumber] !== member) return;
    this.#size -= 1;
    const last = this.#slots[this.#size];
    this.#slots[this.#size] = undefined;
    if (last === undefined || last === member) return;
    this.#slots[member.slotNumber] = last;
    last.slotNumber = member.slotNumber;
  }

  all(): readonly T[] {
    return this.#slots.flatMap((member) => member ?? []);
  }
}
