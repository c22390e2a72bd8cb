<?php
/**
 * A shop that sells one book, from the order to "paid". It needs receiver.php beside it, and no packages:
 *
 *     DALASI_SECRET_KEY=sk_test_… DALASI_WEBHOOK_SECRET=wh_… php -S 127.0.0.1:3000 examples/shop.php
 *
 * Then set the endpoint's address to http://localhost:3000/events.
 */
require __DIR__ . '/receiver.php';

/** Throws with the sentence that says what to do, and the request's id for whoever runs the service. */
function callDalasi(string $method, string $path, ?array $body = null, ?string $key = null): array
{
    $headers = ['authorization: Bearer ' . getenv('DALASI_SECRET_KEY'), 'content-type: application/json'];
    if ($key !== null) {
        $headers[] = "idempotency-key: $key";
    }
    $http = ['method' => $method, 'header' => $headers, 'timeout' => 15, 'ignore_errors' => true];
    if ($body !== null) {
        $http['content'] = json_encode($body);
    }
    $url = (getenv('DALASI_URL') ?: 'http://localhost:8080') . $path;
    $text = file_get_contents($url, false, stream_context_create(['http' => $http]));
    $answer = $text === false ? null : json_decode($text, true);
    if ($answer === null || isset($answer['statusCode'])) {
        throw new RuntimeException('Dalasi answered: ' . ($answer['message'] ?? 'nothing') . ' (' . ($answer['request_id'] ?? '') . ')');
    }
    return $answer;
}

/** Answers the address of the page where the customer pays. */
function startPayment(string $orderId): string
{
    $order = changeOrder($orderId, fn (array $order) => $order);
    $data = [
        'amount' => $order['amount'],
        'title' => "Order $orderId",
        'return_url' => shopUrl() . "/orders/$orderId",
        'cancel_url' => shopUrl() . "/orders/$orderId",
        'metadata' => ['order' => $orderId],
    ];
    // With the order's key a repetition, after a lost answer or a second click, finds the same payment.
    $payment = callDalasi('POST', '/v1/payments', ['data' => $data], "order-$orderId");
    changeOrder($orderId, fn (array $order) => ['payment_id' => $payment['payment_intent_id']] + $order);
    return $payment['payment_link'];
}

/** Asks Dalasi about the payment that the shop has noted. What stands in the address of the page is anybody's text. */
function checkPayment(string $orderId, array $order): string
{
    if ($order['payment_id'] === null) {
        return 'requires_payment_method';
    }
    $payment = callDalasi('GET', "/v1/payments/{$order['payment_id']}");
    if ($payment['status'] === 'successful') {
        markPaid($orderId, $payment);
    }
    return $payment['status'];
}

/** What a verified event says of an order. The same event twice, or one that comes late, changes nothing more. */
function handleEvent(array $event): void
{
    $orderId = $event['data']['metadata']['order'] ?? '';
    $order = changeOrder($orderId, fn (array $order) => $order);
    if ($event['event'] !== 'charge.succeeded' || $order === null) {
        return;
    }
    if ($order['payment_id'] === $event['data']['payment_intent_id']) {
        markPaid($orderId, $event['data']);
    }
}

function markPaid(string $orderId, array $paid): void
{
    changeOrder($orderId, function (array $order) use ($orderId, $paid) {
        if ($order['is_paid'] || $paid['amount'] != $order['amount'] || $paid['currency'] !== 'GMD') {
            return $order;
        }
        error_log("paid $orderId");
        return ['is_paid' => true] + $order;
    });
}

/** A shop keeps its orders in a database. PHP forgets everything after a request, so here a file remembers. */
function changeOrder(string $orderId, callable $change, ?array $new = null): ?array
{
    $file = fopen(sys_get_temp_dir() . '/dalasi-shop.json', 'c+');
    flock($file, LOCK_EX);
    $orders = json_decode(stream_get_contents($file), true) ?? [];
    $order = $orders[$orderId] ?? $new;
    if ($order !== null) {
        $orders[$orderId] = $order = $change($order);
        ftruncate($file, 0);
        rewind($file);
        fwrite($file, json_encode($orders));
    }
    fclose($file);
    return $order;
}

function shopUrl(): string
{
    return getenv('SHOP_URL') ?: 'http://' . $_SERVER['HTTP_HOST'];
}

function answer(): void
{
    $path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
    $isPost = $_SERVER['REQUEST_METHOD'] === 'POST';
    if ($isPost && $path === '/orders') {
        $orderId = bin2hex(random_bytes(16));
        changeOrder($orderId, fn (array $order) => $order, ['amount' => 450, 'payment_id' => null, 'is_paid' => false]);
        header('location: ' . startPayment($orderId), true, 303);
    } elseif ($isPost && $path === '/events') {
        $rawBody = file_get_contents('php://input', false, null, 0, BODY_BYTES_MAX);
        $headers = array_change_key_case(getallheaders());
        $isGenuine = verifyStandard($rawBody, $headers, (string) getenv('DALASI_WEBHOOK_SECRET'));
        if ($isGenuine) {
            handleEvent(json_decode($rawBody, true));
        }
        http_response_code($isGenuine ? 204 : 401);
    } elseif (preg_match('#^/orders/([\w-]+)$#D', $path, $found)) {
        showOrder($found[1]);
    } else {
        echo '<!doctype html><form method="post" action="/orders"><button>Buy the book for D450</button></form>';
    }
}

function showOrder(string $orderId): void
{
    $order = changeOrder($orderId, fn (array $order) => $order);
    if ($order === null) {
        http_response_code(404);
        echo '<!doctype html><p>There is no such order.</p>';
        return;
    }
    $status = $order['is_paid'] ? 'successful' : checkPayment($orderId, $order);
    $isPaid = changeOrder($orderId, fn (array $order) => $order)['is_paid'];
    echo '<!doctype html><p>' . ($isPaid ? 'Thank you, your order is paid.' : "Your order is not paid yet: $status.") . '</p>';
}

try {
    checkSecret((string) getenv('DALASI_WEBHOOK_SECRET'));
    answer();
} catch (RuntimeException $error) {
    error_log($error->getMessage());
    http_response_code(500);
    echo '<!doctype html><p>Something went wrong, and you have not been charged. Try again.</p>';
}
