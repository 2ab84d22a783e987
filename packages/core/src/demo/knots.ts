/** What the demo server knows about: a few knots. */

export const knots: ReadonlyMap<string, string> = new Map([
  ["bowline", "A fixed loop that does not slip and is easy to untie after a load."],
  ["clove-hitch", "Two turns round a post: quick to tie, quick to adjust, not for leaving alone."],
  ["cleat-hitch", "Makes a line fast on a cleat: one turn, figures of eight, one locking turn."],
  ["figure-eight", "A stopper that keeps a line from running out through a fairlead."],
  ["reef-knot", "Ties two ends of one line round something; never joins two lines."],
  ["sheet-bend", "Joins two lines, also when one is thicker than the other."],
]);
