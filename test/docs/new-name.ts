/**
 * The example of a body to create, with a name that no other item has: a UUID follows the name. So created rows stay
 * different where equal rows are forbidden. An example without a name is returned unchanged.
 */
export function withNewName<Example extends object>(example: Example): Example {
  if (!('name' in example)) return example;
  return { ...example, name: `${example.name} ${crypto.randomUUID()}` };
}
