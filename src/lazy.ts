/**
 * Creates a value when it is first needed. For schemas: creating them all at start-up would take half of the worker's
 * start-up time.
 */
export function lazy<Value>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= make();
    return value;
  };
}
