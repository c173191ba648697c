/** Made on first use, then the same: what a process may never need, or has no name of. */
export function once<T>(make: () => T): () => T {
  let value: { readonly made: T } | undefined;
  return () => {
    value ??= { made: make() };
    return value.made;
  };
}
