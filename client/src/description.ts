/** From the OpenAPI description. Written by `npm run client:types`. */

/** The names of the fields that are an int64. */
export const INT64_FIELDS: Record<string, true> = {
  petId: true,
  orderId: true,
  categoryId: true,
  id: true,
};

/** The request of each operation: for the test that compares the methods with the description. */
export interface Operations {
  listPets: 'GET /pets';
  createPet: 'POST /pets';
  getPet: 'GET /pets/{petId}';
  updatePet: 'PATCH /pets/{petId}';
  deletePet: 'DELETE /pets/{petId}';
  listOrders: 'GET /store/orders';
  placeOrder: 'POST /store/orders';
  getOrder: 'GET /store/orders/{orderId}';
  updateOrder: 'PATCH /store/orders/{orderId}';
  getHealth: 'GET /health';
}
