using System.ComponentModel;
using Billing.LocalStack.Processes;

namespace Billing.Rehearsal.Network;

/// <summary>Work in another network namespace: what a thread opens there stays there.</summary>
internal static class NetworkNamespace
{
    /// <summary>Runs something on a thread of its own that has entered the namespace.</summary>
    /// <param name="path">The file that stands for the namespace.</param>
    /// <param name="work">What to run; it must not go on elsewhere.</param>
    /// <exception cref="StackException">The namespace cannot be entered, or the work is refused by the kernel.</exception>
    public static T Run<T>(string path, Func<T> work)
    {
        T? result = default;
        Win32Exception? refused = null;
        var thread = new Thread(() =>
        {
            try
            {
                NativeMethods.EnterNetworkNamespace(path);
                result = work();
            }
            catch (Win32Exception e)
            {
                refused = e;
            }
        });
        thread.Start();
        thread.Join();
        return refused is null ? result! : throw new StackException($"{refused.Message}: {new Win32Exception(refused.NativeErrorCode).Message}", refused);
    }
}
