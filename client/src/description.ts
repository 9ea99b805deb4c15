/** From the OpenAPI description. Written by `npm run openapi`. */

/** The names of the int64 fields, and of int64 parameters of paths. */
// biome-ignore format: a new field is a new line
export const INT64_FIELDS: string[] = [
  'petId',
  'orderId',
  'categoryId',
  'id',
];
