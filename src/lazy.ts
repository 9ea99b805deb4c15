/**
 * Makes a value when it is first needed, and keeps it. For schemas: to construct them all would be half of a
 * worker's start.
 */
export function lazy<Value>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= make();
    return value;
  };
}
