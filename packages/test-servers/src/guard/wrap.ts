/** Lets the guard observe every call of a function of the platform. */

export type Seen = (self: unknown, args: readonly unknown[], outcome: unknown) => void;

/** Calls `see` after each call of `owner[name]`. Members of the function, such as a promisified form, stay. */
export function seeCalls(owner: object, name: string, see: Seen): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== "function") throw new Error(`there is no function "${name}" to watch`);
  const seen = new Proxy(original, {
    apply(target, self: unknown, args: unknown[]) {
      const outcome: unknown = Reflect.apply(target, self, args);
      see(self, args, outcome);
      return outcome;
    },
  });
  Reflect.set(owner, name, seen);
}

/** Calls `see` with each object that `new owner[name](…)` creates. */
export function seeInstances(owner: object, name: string, see: (instance: object) => void): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== "function") throw new Error(`there is no class "${name}" to watch`);
  const seen = new Proxy(original, {
    construct(target, args: unknown[], newTarget) {
      const instance = Reflect.construct(target, args, newTarget) as object;
      see(instance);
      return instance;
    },
  });
  Reflect.set(owner, name, seen);
}
