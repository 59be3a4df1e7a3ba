"""The rows of the laws, by id: the law and its precondition, as the checker takes them; a test compares them with the core."""

ROWS: dict[str, tuple[str, str]] = {
    "known-equal": (
        "e = f",
        "e = f on the domain",
    ),
    "single-value": (
        "e = c",
        "c <= e <= c",
    ),
    "variables-equal": (
        "y = x",
        "x - y = 0",
    ),
    "quotient-offset-redundant": (
        "(x + c) / (g * k) = x / (g * k)",
        "g > 0, k > 0, 0 <= x % g + c < g",
    ),
    "quotient-split": (
        "n / m = (n - r) / m",
        "m > 0, g divides m, g divides n - r, 0 <= r < g",
    ),
    "quotient-of-nested": (
        "(x / b + y) / m = (x + b * y) / (b * m), (y - x / b) / m = (b * y - x + b - 1) / (b * m)",
        "b > 0, m > 0",
    ),
    "quotient-of-extremum": (
        "min(a, b) / m = min(a / m, b / m)",
        "m > 0 (max alike)",
    ),
    "quotient-of-digit": (
        "(x / a % b + y) / m = (x % (a * b) + a * y) / (a * m), (y - x / a % b) / m = (a * y - x % (a * b) + "
        "a - 1) / (a * m)",
        "a > 0, b > 0, m > 0",
    ),
    "quotient-with-carry": (
        "(g * h + l) / m = (h + l / g) / (m / g)",
        "g > 0, m > 0, g divides m",
    ),
    "quotient-thresholds": (
        "(a * x + c) / m = (x - s) / k + q",
        "a > 0, m > 0, within the bounds of x the left side increases by 1 at x = s, s + k, s + 2 * k, .. and"
        " nowhere else, and it is q at s",
    ),
    "quotient-small": (
        "x / y = 0",
        "0 <= x < y",
    ),
    "quotient-of-multiple": (
        "(x * y + z) / y = x + z / y",
        "y != 0",
    ),
    "remainder-in-period": (
        "x % m = x - m * k",
        "m > 0, m * k <= x < m * (k + 1)",
    ),
    "remainder-of-known-quotient": (
        "x % m = x - m * q",
        "m > 0, x / m = q",
    ),
    "remainder-split": (
        "n % m = (n - r) % m + r",
        "m > 0, g divides m, g divides n - r, 0 <= r < g",
    ),
    "remainder-of-quotient": (
        "(c * ((x + d * p * y) / d) + z) % m = (c * (x / d) + z) % m",
        "m > 0, d > 0, m divides c * p",
    ),
    "remainder-expanded": (
        "(y + c * (x % u)) % m = (y + c * x - c * u * (x / u)) % m",
        "u > 0, m > 0",
    ),
    "remainder-with-carry": (
        "(g * h + l) % m = g * ((h + l / g) % (m / g)) + l % g",
        "g > 0, m > 0, g divides m",
    ),
    "remainder-small": (
        "x % y = x",
        "0 <= x < y",
    ),
    "remainder-of-multiple": (
        "(x * y + z) % y = z % y",
        "y != 0",
    ),
    "equality-substituted": (
        "e = e + k * (f - c)",
        "f = c on the domain",
    ),
    "remainder-recombines": (
        "x % m = z - m * (z / m), y % m = m - 1 - z + m * (z / m)",
        "m > 0, x % m = z % m, y % m = (-1 - z) % m",
    ),
    "halves-recombine": (
        "x / 2 + x % 2 = (x + 1) / 2, (x + 1) / 2 - x % 2 = x / 2",
        "none",
    ),
    "digits-recombine": (
        "x % u + u * (y % v) = (z + u * (y - z / u)) % (u * v)",
        "u > 0, v > 0, x % u = z % u",
    ),
    "remainder-beside-quotient": (
        "x % m = x - m * (x / m)",
        "m > 0",
    ),
    "quotient-recombines": (
        "m * (x / m) = x - x % m",
        "m > 0",
    ),
    "sum-of-extremes": (
        "min(a, b) + max(a, b) = a + b",
        "none",
    ),
    "extrema-differ": (
        "min(a + m, b + n) - min(a, b) = min(max(b - a + n, n), m)",
        "n <= m (max alike)",
    ),
    "extremum-term-moved-in": (
        "min(a, b) + t = min(a + t, b + t)",
        "none (max alike)",
    ),
    "quotients-merge": (
        "a / m - b / m = (b % m + a - b) / m, a / m + b / m = (a + b - b % m) / m",
        "m > 0",
    ),
    "remainder-mirrored": (
        "x % m = m - 1 - (m - 1 - x) % m",
        "m > 0",
    ),
    "products-factored": (
        "x * f + y * f = (x + y) * f",
        "none",
    ),
    "argument-redundant": (
        "min(a, b) = a",
        "a <= b on the domain (max alike)",
    ),
    "extremum-of-quotients": (
        "min(a / m, b / m) = min(a, b) / m",
        "m > 0 (max alike)",
    ),
    "extremum-term-moved-out": (
        "min(a + t, b) = min(a, b - t) + t",
        "none (max alike)",
    ),
    "extremum-of-last-step": (
        "max(a * x, c) = c + (a * n - c) * (x / n), min(-a * x, -c) = -c - (a * n - c) * (x / n)",
        "a > 0, n > 0, 0 <= x <= n, a * n - a <= c <= a * n on the domain",
    ),
    "product-of-extremes": (
        "min(a, b) * max(a, b) = a * b",
        "none",
    ),
    "form-remainder-expanded": (
        "x % m = x - m * (x / m)",
        "m > 0",
    ),
    "form-remainder-by-quotient": (
        "x % m = z - m * (z / m)",
        "m > 0, x % m = z % m",
    ),
    "form-remainders-expanded": (
        "a * (x % m) + b * (y % n) = a * x + b * y - a * m * (x / m) - b * n * (y / n)",
        "m > 0, n > 0",
    ),
    "form-remainder-expanded-inside": (
        "(y + c * (x % u)) / m = (y + c * x) / m - k * (x / u)",
        "m > 0, u > 0, c * u = k * m",
    ),
    "form-quotient-contracted": (
        "m * (x / m) = x - x % m",
        "m > 0",
    ),
    "form-terms-moved-out": (
        "(m * x + y) / m = x + y / m",
        "m > 0",
    ),
    "form-terms-moved-in": (
        "k * x + n / m = (n + k * m * x) / m",
        "m > 0",
    ),
    "form-residues-moved-in": (
        "(k * x + c * (n / d)) % m = c * ((n + j * d * x) / d) % m",
        "d > 0, m > 0, c * j = k + m",
    ),
    "form-negative-residues-moved-in": (
        "(k * x + c * (n / d)) % m = c * ((n + j * d * x) / d) % m",
        "d > 0, m > 0, c * j = k - m",
    ),
    "sum-flat": (
        "a * (b * x + c) + y = a * b * x + y + a * c",
        "none",
    ),
    "sum-terms-merge": (
        "a * x + b * x = (a + b) * x, 0 * x = 0",
        "none",
    ),
    "sum-remainder-recombines": (
        "c * (x % m) + c * m * (z / m) = c * z",
        "m > 0, x % m = z % m",
    ),
    "sum-digits-recombine": (
        "x % u + u * (y % v) = (z + u * (y - z / u)) % (u * v)",
        "u > 0, v > 0, x % u = z % u",
    ),
    "sum-difference-is-quotient": (
        "c * x - c * (x % m) = c * m * (x / m)",
        "m > 0",
    ),
    "sum-difference-is-remainder": (
        "c * x - c * m * (x / m) = c * (x % m)",
        "m > 0",
    ),
    "quotient-divisor-negative": (
        "x / -m = -x / m",
        "m > 0",
    ),
    "quotient-divisor-one": (
        "x / 1 = x",
        "none",
    ),
    "quotient-of-quotient": (
        "x / b / c = x / (b * c)",
        "b > 0, c > 0",
    ),
    "quotient-of-remainder": (
        "x % (c * k) / c = x / c % k",
        "c > 0, k > 0",
    ),
    "quotient-multiples-moved-out": (
        "(c * x + y) / c = x + y / c",
        "c > 0",
    ),
    "quotient-common-factor": (
        "(g * x + r) / (g * d) = (x + r / g) / d",
        "g > 0, d > 0",
    ),
    "quotient-sign": (
        "n / d = -((d - 1 - n) / d)",
        "d > 0",
    ),
    "quotient-offset-moved-in": (
        "(y / b + k) / c = (y + k * b) / (b * c)",
        "b > 0, c > 0",
    ),
    "quotient-of-itself": (
        "y / y = 1, 0 / y = 0",
        "y != 0",
    ),
    "quotient-ceiling": (
        "x ceildiv m = -(-x / m)",
        "m != 0",
    ),
    "remainder-modulus-sign": (
        "x % -m = x % m",
        "m != 0",
    ),
    "remainder-modulus-one": (
        "x % 1 = 0",
        "none",
    ),
    "remainder-of-coarser": (
        "x % (k * m) % m = x % m",
        "k > 0, m > 0",
    ),
    "remainder-of-finer": (
        "x % m % (k * m) = x % m",
        "k > 0, m > 0",
    ),
    "remainder-coefficient-residue": (
        "((a + k * m) * x + y) % m = (a * x + y) % m",
        "m > 0",
    ),
    "remainder-inner-expanded": (
        "(c * (x % n) + y) % m = (c * x + y) % m",
        "m > 0, n > 0, m divides c * n",
    ),
    "remainder-common-factor": (
        "(g * x + r) % (g * k) = g * ((x + r / g) % k) + r % g",
        "g > 0, k > 0",
    ),
    "remainder-parity": (
        "(x + 1) % 2 = 1 - x % 2",
        "none",
    ),
    "remainder-of-itself": (
        "y % y = 0, 0 % y = 0",
        "y != 0",
    ),
    "product-content-outside": (
        "(g * x) * (h * y) = g * h * (x * y)",
        "none",
    ),
    "extremum-flat": (
        "min(a, min(b, c)) = min(a, b, c)",
        "none (max alike)",
    ),
    "extremum-scaled-flat": (
        "min(a, t + c * min(x, y)) = min(a, t + c * x, t + c * y), min(a, t - c * max(x, y)) = min(a, t - c *"
        " x, t - c * y)",
        "c > 0 (max alike)",
    ),
    "extremum-constant-decides": (
        "min(a + p, a + q) = a + p",
        "p <= q (max alike)",
    ),
    "extremum-absorbs": (
        "min(x, max(x, y)) = x",
        "none (max alike)",
    ),
    "extremum-absorbs-constant": (
        "min(a + p, max(a + q, y)) = a + p",
        "p <= q (max alike)",
    ),
    "extremum-inner-redundant": (
        "min(x, max(y, min(x, z))) = min(x, max(y, z))",
        "none (max alike)",
    ),
    "extremum-distributes": (
        "min(max(x, y), max(x, z)) = max(x, min(y, z))",
        "none (max alike)",
    ),
    "extremum-terms-outside": (
        "min(a + c, b + c) = min(a, b) + c",
        "none (max alike)",
    ),
    "extremum-factor-outside": (
        "min(g * a, g * b) = g * min(a, b), min(-g * a, -g * b) = -g * max(a, b)",
        "g > 0 (max alike)",
    ),
    "constraints-intersect": (
        "e in [a, b] and e in [c, d] = e in [max(a, c), min(b, d)]",
        "none",
    ),
    "constraint-implied": (
        "e in [a, b] is true",
        "a <= u, v <= b, e in [u, v]",
    ),
    "constraint-impossible": (
        "e in [a, b] is false",
        "v < a or b < u, e in [u, v]",
    ),
    "constraint-normal-form": (
        "k * x + c in [a, b] = x in [-(-(a - c) / k), (b - c) / k]",
        "k > 0; if k < 0, the same of -k and -x",
    ),
    "constraint-low-terms-removed": (
        "g * h + l in [a, b] = h in [p, q]",
        "g > 0, u <= l <= v, p = (a - u) ceildiv g = (a - v) ceildiv g, q = (b - v) / g = (b - u) / g",
    ),
    "constraint-bounds-term": (
        "x + y in [a, b] implies x in [a - v, b - u]",
        "u <= y <= v",
    ),
    "constraint-on-quotient": (
        "x / m in [a, b] = x in [a * m, b * m + m - 1]",
        "m > 0",
    ),
    "constraint-on-extremum": (
        "min(x, y) in [a, b] = x in [a, oo], y in [a, oo], min(x, y) in [-oo, b]",
        "none (max alike)",
    ),
    "constraint-congruence-normal": (
        "(u * x + c) % m = r is (x + i * c) % m = i * r % m",
        "m > 0, 0 <= r < m, i * u % m = 1",
    ),
    "constraint-congruences-merge": (
        "x % m = r and x % n = q is x % l = s",
        "l = lcm(m, n), 0 <= s < l, s % m = r, s % n = q",
    ),
    "constraint-congruences-contradict": (
        "x % m = r and x % n = q is false",
        "m > 0, n > 0, g > 0, g divides m and n, (q - r) % g != 0",
    ),
    "constraint-congruence-bounds": (
        "x % m = r and a <= x <= b implies a + (r - a) % m <= x <= b - (b - r) % m",
        "m > 0, 0 <= r < m",
    ),
    "constraint-divisor": (
        "x / y or x % y is defined = y in [1, oo] if y >= 0, y in [-oo, -1] if y <= 0, else max(y, -y) in [1, oo]",
        "none",
    ),
    "constraint-equates": (
        "f(y) = f(x)",
        "x - y = 0",
    ),
    "constraint-solved": (
        "v = s * (c - r)",
        "r + s * v = c, s = 1 or s = -1",
    ),
    "range-of-sum": (
        "u + p <= x + y <= v + q",
        "u <= x <= v, p <= y <= q",
    ),
    "range-of-multiple": (
        "k * u <= k * x <= k * v, -k * v <= -k * x <= -k * u",
        "u <= x <= v, k > 0",
    ),
    "congruence-of-sum": (
        "(a * x + b * y) % g = (a * r + b * s) % g",
        "x = r + m * i, y = s + n * j, g > 0, g divides a * m and b * n",
    ),
    "range-of-digits": (
        "a * x + b * (x / k) + c * (x % k) = (a * k + b) * (x / k) + (a + c) * (x % k)",
        "k > 0",
    ),
    "range-of-common-factor": (
        "x * f + y * f = (x + y) * f",
        "none",
    ),
    "range-of-expanded-quotient": (
        "a * (x / m) + y = (a * x + m * y - a * (x % m)) / m",
        "m > 0",
    ),
    "congruence-of-digits": (
        "(a * x + b * (x / k) + c * (x % k)) % g = 0",
        "k > 0, g > 0, g divides a * k + b and a + c",
    ),
    "range-by-common-denominator": (
        "x / b + y = (x + b * y) / b",
        "b > 0",
    ),
    "range-by-facts": (
        "k * u + p <= k * f + y <= k * v + q, p - k * v <= y - k * f <= q - k * u",
        "u <= f <= v, p <= y <= q, k > 0",
    ),
    "range-by-digits": (
        "x % (a * b) = a * (x / a % b) + x % a, x = a * (x / a) + x % a",
        "a > 0, b > 0",
    ),
    "range-of-quotient": (
        "u / m <= x / m <= v / m",
        "u <= x <= v, m > 0",
    ),
    "range-of-quotient-by-expression": (
        "x / y lies between the least and the greatest of u / p, u / q, v / p, v / q",
        "u <= x <= v, p <= y <= q, p > 0 or q < 0",
    ),
    "range-of-remainder": (
        "u % m <= x % m <= v % m",
        "u <= x <= v, u / m = v / m, m > 0",
    ),
    "congruence-of-remainder": (
        "x % m % g = r % g",
        "x = r + n * i, m > 0, g > 0, g divides n and m",
    ),
    "range-of-remainder-by-expression": (
        "0 <= x % y <= max(-p, q) - 1, and x % y <= x if x >= 0",
        "p <= y <= q, y != 0",
    ),
    "range-of-extremum": (
        "min(u, p) <= min(x, y) <= min(v, q)",
        "u <= x <= v, p <= y <= q (max alike)",
    ),
    "congruence-of-extremum": (
        "min(x, y) % g = r % g",
        "x = r + m * i, y = s + n * j, g > 0, g divides m, n and s - r (max alike)",
    ),
    "range-of-product": (
        "x * y lies between the least and the greatest of u * p, u * q, v * p, v * q",
        "u <= x <= v, p <= y <= q",
    ),
    "range-of-square": (
        "0 <= x * x",
        "none",
    ),
    "congruence-of-product": (
        "x * y % (g * h) = 0",
        "g > 0, h > 0, g divides x, h divides y",
    ),
    "congruence-tightens": (
        "a + (r - a) % m <= x <= b - (b - r) % m",
        "x % m = r, a <= x <= b, m > 0, 0 <= r < m",
    ),
    "extremes-apart": (
        "max(a, b) - min(a, b) = max(a - b, b - a)",
        "none",
    ),
    "quotients-complete": (
        "x / m + (x + g) / m + ... + (x + m - g) / m = x / g",
        "g > 0, g divides m, a term for each multiple of g below m; one of them may be subtracted instead",
    ),
    "remainders-complete": (
        "x % m + (x + g) % m + ... + (x + m - g) % m = n * (x % g) + g * n * (n - 1) / 2",
        "m = n * g, n > 1, g > 0, a term for each multiple of g below m; one of them may be subtracted instead",
    ),
    "remainders-opposite": ("x % m + -x % m = m * min(x % m, 1)", "m > 0"),
    "product-with-bit": ("b * (c * b + y) = b * (c + y)", "0 <= b <= 1"),
    "values-equal": (
        "e = f",
        "e and f have equal values at each value of their only variable",
    ),
    "values-equal-in-sum": (
        "e + y = f + y",
        "e and f have equal values at each value of their only variable",
    ),
}
