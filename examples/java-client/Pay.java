import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.Durations;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.StatusProto;
import internal.billing.v1.BillingServiceGrpc;
import internal.billing.v1.MakePaymentRequest;
import internal.billing.v1.Money;
import internal.billing.v1.PaymentType;
import java.util.Collections;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Makes payments, all at once, and waits before a retry for as long as the proxy asks; before them one that is
 * invalid. What went wrong is read from the details of google.rpc.Status, with gRPC's own StatusProto.
 */
public final class Pay {
  private final BillingServiceGrpc.BillingServiceBlockingStub billing;

  private Pay(BillingServiceGrpc.BillingServiceBlockingStub billing) {
    this.billing = billing;
  }

  /** Arguments: host:port of a proxy, an account, and the number of payments. */
  public static void main(String[] arguments) throws Exception {
    ManagedChannel channel = NettyChannelBuilder.forTarget(arguments[0]).usePlaintext().build();
    var callers = Executors.newCachedThreadPool();
    try {
      var pay = new Pay(BillingServiceGrpc.newBlockingStub(channel));
      String account = arguments[1];
      try {
        pay.once(payment(account, 5_000_000));
      } catch (StatusRuntimeException e) {
        System.out.println(describe(e));
      }
      Callable<Integer> payment = () -> pay.untilAnswered(payment(account, 0));
      int waits = 0;
      for (var answer : callers.invokeAll(Collections.nCopies(Integer.parseInt(arguments[2]), payment))) {
        waits += answer.get();
      }
      System.out.println("paid " + arguments[2] + " times, waited " + waits + " times");
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      System.err.println(cause instanceof StatusRuntimeException ? describe((StatusRuntimeException) cause) : cause);
      System.exit(1);
    } finally {
      callers.shutdown();
      channel.shutdown().awaitTermination(10, TimeUnit.SECONDS);
    }
  }

  private static MakePaymentRequest payment(String account, int nanos) {
    return MakePaymentRequest.newBuilder()
        .setTransactionId(UUID.randomUUID().toString())
        .setAccountId(account)
        .setPaymentType(PaymentType.PAYMENT_TYPE_VISA)
        .setAmount(Money.newBuilder().setCurrencyCode("USD").setUnits(1).setNanos(nanos))
        .build();
  }

  private void once(MakePaymentRequest payment) {
    billing.withDeadlineAfter(60, TimeUnit.SECONDS).makePayment(payment);
  }

  /**
   * Sends a payment until it is answered; returns how often the proxy asked to wait. A retry has the same id, so it is
   * charged once.
   */
  private int untilAnswered(MakePaymentRequest payment) throws InterruptedException {
    for (int refusals = 0; ; refusals++) {
      try {
        once(payment);
        return refusals;
      } catch (StatusRuntimeException e) {
        RetryInfo retry = detail(e, RetryInfo.class);
        if (retry == null) {
          throw e;
        }
        Thread.sleep(Durations.toMillis(retry.getRetryDelay()));
      }
    }
  }

  private static String describe(StatusRuntimeException e) {
    var text = new StringBuilder(e.getStatus().getCode().toString());
    ErrorInfo info = detail(e, ErrorInfo.class);
    if (info != null) {
      text.append(' ').append(info.getReason()).append(" of ").append(info.getDomain());
    }
    BadRequest bad = detail(e, BadRequest.class);
    if (bad != null) {
      bad.getFieldViolationsList().forEach(violation ->
          text.append(", ").append(violation.getField()).append(": ").append(violation.getDescription()));
    }
    return text.toString();
  }

  /** The detail of a type; null if the status has none. */
  private static <T extends com.google.protobuf.Message> T detail(StatusRuntimeException e, Class<T> type) {
    com.google.rpc.Status status = StatusProto.fromThrowable(e);
    if (status == null) {
      return null;
    }
    try {
      for (Any any : status.getDetailsList()) {
        if (any.is(type)) {
          return any.unpack(type);
        }
      }
      return null;
    } catch (InvalidProtocolBufferException damaged) {
      throw new IllegalStateException(damaged);
    }
  }
}
