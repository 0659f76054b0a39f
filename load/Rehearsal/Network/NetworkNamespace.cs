using System.ComponentModel;
using Billing.LocalStack.Processes;

namespace Billing.Rehearsal.Network;

/// <summary>Runs work in another network namespace: sockets that a thread opens there stay there.</summary>
internal static class NetworkNamespace
{
    /// <summary>Runs work on a separate thread that has entered the namespace.</summary>
    /// <param name="work">The work; it must not continue on another thread.</param>
    public static T Run<T>(string path, Func<T> work)
    {
        T? result = default;
        Win32Exception? failure = null;
        var thread = new Thread(() =>
        {
            try
            {
                NativeMethods.EnterNetworkNamespace(path);
                result = work();
            }
            catch (Win32Exception e)
            {
                failure = e;
            }
        });
        thread.Start();
        thread.Join();
        return failure is null ? result! : throw new StackException($"{failure.Message}: {new Win32Exception(failure.NativeErrorCode).Message}", failure);
    }
}
