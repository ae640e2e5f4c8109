#!/usr/bin/env python3
"""jax_vmap.py DEVICE MOST MATH SECONDS WORKLOAD...: as torch_vmap.py, by JAX's vmap and jit;
W1 to W4."""
import sys
import time

import jax
import jax.numpy as jnp


def dense(key, a, b):
    return {"w": jax.random.uniform(key, (a, b), minval=-1, maxval=1) / a ** .5, "b": jnp.zeros(b)}


def mlp(sizes):
    def init(key):
        return [dense(k, a, b) for k, a, b in zip(jax.random.split(key, len(sizes)), sizes, sizes[1:])]

    def apply(p, x):
        for l in p[:-1]:
            x = jax.nn.relu(x @ l["w"] + l["b"])
        return x @ p[-1]["w"] + p[-1]["b"]

    return init, apply


def cnn():
    def init(key):
        k = jax.random.split(key, 3)
        return [{"w": jax.random.normal(k[0], (3, 3, 1, 8)) / 3, "b": jnp.zeros(8)},
                {"w": jax.random.normal(k[1], (3, 3, 8, 16)) / 72 ** .5, "b": jnp.zeros(16)}, dense(k[2], 256, 10)]

    def apply(p, x):
        for l in p[:2]:
            x = jax.lax.conv_general_dilated(x, l["w"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = jax.nn.relu(x + l["b"])
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return x.reshape(x.shape[0], -1) @ p[2]["w"] + p[2]["b"]

    return init, apply


def pointnet():
    """Points through 32, 64 and 128 channels with batch norms, their largest, 64, 10."""
    def init(key):
        k = jax.random.split(key, 5)
        body = [dict(dense(k[i], a, b), g=jnp.ones(b), o=jnp.zeros(b)) for i, (a, b) in enumerate(((3, 32), (32, 64), (64, 128)))]
        return body + [dense(k[3], 128, 64), dense(k[4], 64, 10)]

    def apply(p, x):
        for l in p[:3]:
            x = x @ l["w"] + l["b"]
            x = (x - x.mean((0, 1))) / jnp.sqrt(x.var((0, 1)) + 1e-5)
            x = jax.nn.relu(x * l["g"] + l["o"])
        x = jax.nn.relu(x.max(1) @ p[3]["w"] + p[3]["b"])
        return x @ p[4]["w"] + p[4]["b"]

    return init, apply


WORKLOADS = {"W3": (pointnet(), (16, 128, 3)), "W1": (mlp((64, 64, 10)), (32, 64)), "W2": (mlp((784, 128, 10)), (64, 784)), "W4": (cnn(), (16, 16, 16, 1))}


def main():
    most, maths, seconds = int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
    jax.config.update("jax_default_matmul_precision", {"fp32": "highest", "tf32": "tensorfloat32"}.get(maths, "bfloat16"))
    for name in sys.argv[5:]:
        if name not in WORKLOADS:
            continue
        (init, apply), shape = WORKLOADS[name]
        x = jax.random.normal(jax.random.key(1), shape)
        y = jax.random.randint(jax.random.key(2), shape[:1], 0, 10)

        def loss(p):
            return -jnp.take_along_axis(jax.nn.log_softmax(apply(p, x)), y[:, None], 1).mean()

        @jax.jit
        def step(p):
            return jax.tree.map(lambda v, g: v - .01 * g, p, jax.vmap(jax.grad(loss))(p))

        models = 1
        while models <= most:
            p = jax.vmap(init)(jax.random.split(jax.random.key(0), models))
            for _ in range(3):
                p = step(p)
            jax.block_until_ready(p)
            start, n = time.perf_counter(), 0
            while time.perf_counter() - start < seconds or n == 0:
                for _ in range(10):
                    p = step(p)
                jax.block_until_ready(p)
                n += 10
            s = (time.perf_counter() - start) / n
            print(f"jax-vmap,{name},{maths},{models},{1000 * s:.6g},{models * shape[0] / s:.6g}", flush=True)
            models *= 2


main()
