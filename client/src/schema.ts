/** From the OpenAPI description. Written by `npm run openapi`. */

/** The names of the int64 fields. */
export const INT64_FIELDS: string[] = [
  'categoryId',
  'petId',
  'id',
];

/** Availability of the animal. */
export type PetStatus = "available" | "pending" | "sold" | (string & {});

/** An animal to add. The service assigns its id. Omit `status` for an animal without a status. */
export type NewPet = {
  /** The animal's name. It must contain a visible character (white space, format, ignorable and blank characters are invisible) and no control characters. Its length is counted in Unicode code points. It is returned exactly as it was sent. */
  name: string;
  /** Identifier of the category of the animal. */
  categoryId: bigint;
  status?: PetStatus | undefined;
};

/** The fields to change, at least one. `"status": null` removes the status. */
export type PetPatch = {
  /** The animal's name. It must contain a visible character (white space, format, ignorable and blank characters are invisible) and no control characters. Its length is counted in Unicode code points. It is returned exactly as it was sent. */
  name?: string | undefined;
  /** Identifier of the category of the animal. */
  categoryId?: bigint | undefined;
  /** The new status; `null` removes it. */
  status?: PetStatus | null | undefined;
};

/** An order is open while it is placed or approved. */
export type OrderStatus = "placed" | "approved" | "delivered" | "cancelled" | (string & {});

/** An order to place. */
export type NewOrder = {
  /** Identifier of the animal to order. */
  petId: bigint;
};

/** The new status of the order. */
export type OrderPatch = {
  status: OrderStatus;
};

/** An animal. The field `status` is absent if the animal has no status. */
export type Pet = {
  /** Identifier of the animal, assigned by the service. */
  id: bigint;
  /** The animal's name. It must contain a visible character (white space, format, ignorable and blank characters are invisible) and no control characters. Its length is counted in Unicode code points. It is returned exactly as it was sent. */
  name: string;
  /** Identifier of the category of the animal. */
  categoryId: bigint;
  status?: PetStatus | undefined;
};

/** An order of an animal. */
export type Order = {
  /** Identifier of the order, assigned by the service. */
  id: bigint;
  /** Identifier of the animal. */
  petId: bigint;
  status: OrderStatus;
  /** The time of the order, in UTC (RFC 3339). */
  placedAt: string;
};

/** The service is healthy. */
export type Health = {
  /** Always `ok`: the worker is running. */
  status: "ok" | (string & {});
  /** The environment of this deployment. */
  environment: "local" | "staging" | "production" | (string & {});
  /** Identifier of the deployed version. */
  version: string;
};

export type ListPetsQuery = {
  /** Maximum number of items to return. */
  limit?: number | undefined;
  /** Returns only animals with this status. Animals without a status never match. */
  status?: PetStatus | undefined;
};

export type ListOrdersQuery = {
  /** Maximum number of items to return. */
  limit?: number | undefined;
  /** Returns only orders with this status. */
  status?: OrderStatus | undefined;
};

/** The machine-readable error code. Later versions may add codes. */
export type ErrorCode = "invalid_json" | "invalid_request" | "missing_api_key" | "invalid_api_key" | "expired_api_key" | "revoked_api_key" | "insufficient_scope" | "https_required" | "not_found" | "pet_not_found" | "order_not_found" | "method_not_allowed" | "pet_not_available" | "pet_has_open_order" | "invalid_transition" | "body_too_large" | "unsupported_media_type" | "idempotency_key_reused" | "rate_limited" | "internal_error" | "service_unavailable" | (string & {});
