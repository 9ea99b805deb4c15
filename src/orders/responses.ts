/** The schemas of responses about orders. Only the description uses them, not the worker. */
import * as z from 'zod/mini';
import { Int64 } from '../http/int64.ts';
import { OrderStatus } from './schema.ts';

/** `placedAt` is a time in UTC (RFC 3339). */
export const Order = z.looseObject({
  id: Int64(),
  petId: Int64(),
  status: OrderStatus(),
  placedAt: z.iso.datetime(),
});

export const Orders = z.array(Order);
