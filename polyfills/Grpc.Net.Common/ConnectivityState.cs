namespace Grpc.Core;

public enum ConnectivityState
{
    Idle,
    Connecting,
    Ready,
    TransientFailure,
    Shutdown,
}
